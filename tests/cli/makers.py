"""Small price lists in the vendors' layouts (../shared/docs/pricing-sources.md), made by the tests."""
import itertools

from little import csv_text

OWN = ("vendor,region,instance_type,gpu,gpu_count,gpu_memory_gib,vcpus,memory_gib,price_per_hour,currency,purchase,"
       "upfront,price_month")
SKY = ("InstanceType,AcceleratorName,AcceleratorCount,vCPUs,MemoryGiB,Price,SpotPrice,Region,"
       "AvailabilityZone")
AWS = ("SKU,OfferTermCode,RateCode,TermType,PriceDescription,EffectiveDate,StartingRange,EndingRange,Unit,PricePerUnit,"
       "Currency,LeaseContractLength,PurchaseOption,OfferingClass,Product Family,Location,Location Type,Instance Type,"
       "vCPU,Memory,Tenancy,Operating System,License Model,usageType,operation,CapacityStatus,GPU,GPU Memory,"
       "Pre Installed S/W,Region Code,MarketOption")
numbers = itertools.count(1)


def own(itype, price, **more):
    """A row of a list of the user's own."""
    row = {"vendor": "oci", "region": "r", "instance_type": itype, "gpu": "A10", "gpu_count": 1, "vcpus": 8,
           "memory_gib": 64, "price_per_hour": price, "currency": "USD", "purchase": "on_demand"}
    row.update(more)
    return row


def own_list(rows):
    return csv_text(OWN, rows)


def sky(itype, price, spot="", gpu="A10", count=1, region="r", zone="", vcpus=8, memory=64):
    return dict(zip(SKY.split(","), (itype, gpu, count, vcpus, memory, price, spot, region, zone)))


def aws(itype, price, gpu="", gpu_memory="NA", vcpus=96, memory="1,152 GiB", **more):
    """A row of AWS's offer file: Linux, shared, on demand, unless told otherwise."""
    sku = more.pop("sku", "S%06d" % next(numbers))
    row = {"SKU": sku, "OfferTermCode": "JRTCKXETXF", "RateCode": sku + ".JRTCKXETXF.6YS6EN2CT7",
           "TermType": "OnDemand", "Unit": "Hrs", "PricePerUnit": price, "Currency": "USD",
           "EffectiveDate": "2026-11-01", "Product Family": "Compute Instance", "Location": "US East (N. Virginia)",
           "Location Type": "AWS Region", "Instance Type": itype, "vCPU": vcpus, "Memory": memory, "Tenancy": "Shared",
           "Operating System": "Linux", "License Model": "No License required", "usageType": "BoxUsage:" + itype,
           "operation": "RunInstances", "CapacityStatus": "Used", "GPU": gpu, "GPU Memory": gpu_memory,
           "Pre Installed S/W": "NA", "Region Code": "us-east-1", "MarketOption": "OnDemand"}
    row.update(more)
    return row


def aws_offer(rows, header=AWS):
    head = ('"FormatVersion","v1.0"\n"Disclaimer","for information, only"\n"Publication Date","2026-11-20T00:00:00Z"\n'
            '"Version","20261120000000"\n"OfferCode","AmazonEC2"\n')
    return head + csv_text(header, rows)


def gcp_sku(text, price, usage="OnDemand", region="us-central1", currency="USD"):
    """A SKU of Google's catalogue; memory is priced by GiB and hour, all else by the hour."""
    whole, _, part = str(price).partition(".")
    return {"skuId": "%04d" % next(numbers), "description": text, "category": {"usageType": usage},
            "serviceRegions": [region], "pricingInfo": [{"effectiveTime": "2026-11-01T00:00:00Z", "pricingExpression": {
                "usageUnit": "GiBy.h" if " Ram " in text else "h",
                "tieredRates": [{"startUsageAmount": 0, "unitPrice": {
                    "currencyCode": currency, "units": whole, "nanos": int(part.ljust(9, "0")[:9] or 0)}}]}}]}


def azure(size, price, name="", product="", **more):
    """A meter of Azure's retail prices; name: what follows the size in its name."""
    row = {"currencyCode": "USD", "tierMinimumUnits": 0.0, "retailPrice": price, "unitPrice": price, "armRegionName": "eastus",
           "location": "US East", "effectiveStartDate": "2026-06-01T00:00:00Z", "meterId": "m%d" % next(numbers),
           "meterName": size + name, "productId": "P", "skuId": "P/%d" % next(numbers),
           "productName": "Virtual Machines Dsv5 Series" + product, "skuName": size + name, "serviceName": "Virtual Machines",
           "serviceId": "DZH313Z7MMC8", "serviceFamily": "Compute", "unitOfMeasure": "1 Hour", "type": "Consumption",
           "isPrimaryMeterRegion": True, "armSkuName": "Standard_" + size.replace(" ", "_")}
    row.update(more)
    return row


def azure_page(rows):
    return {"BillingCurrency": "USD", "Items": list(rows), "NextPageLink": None, "Count": len(rows)}
